from hypothesis import settings

# A loaded machine is no failure.
settings.register_profile("prefero", deadline=None)
settings.load_profile("prefero")
