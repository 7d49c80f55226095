"""A study in the formats of others: every_eval_ever, Croissant, and labelled files of SPSS and Stata."""
