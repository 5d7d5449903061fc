"""`spark-cdc report`: loads, their figures and findings as one HTML file."""
