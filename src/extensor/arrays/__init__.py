"""Arrays: dtypes, shapes, memory, and what formulas need beyond the Array API. No tensor is known here."""
