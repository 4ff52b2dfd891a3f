"""The `packets` network model beside ns-3, an independent packet simulator, on small cases."""
