// The page of a study. All files of this folder are joined in the order of their names into one script.
(() => {
"use strict";
