"""Who may decide: intake, verdicts, the write gate and the people behind them."""
