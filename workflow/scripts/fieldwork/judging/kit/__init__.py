"""What people judge with: units allotted to raters, as a page, as spreadsheets and for Label Studio."""
