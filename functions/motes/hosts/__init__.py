"""Where the app runs. Each host knows one platform; none of them knows a vendor."""
