"""The handed recordings and cases, read in place: set MOTES_SHARED to the folder that holds them."""
