"""What things cost: prices, budgets, forecasts, and what fits into a prompt."""
