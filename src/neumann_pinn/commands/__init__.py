"""What users and rules start: runs on disk, GPUs, watching, benchmarks, the command line."""
