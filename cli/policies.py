"""`kerntape policies`: the shipped hazard policies, or one as YAML, to start one's own from."""

import argparse

from .listing import add_listing_arguments, print_listing
from .printing import print_json

SUMMARY = "list the hazard policies, or print one as YAML"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """NAME may be a shipped policy or a YAML file."""
    add_listing_arguments(parser, "policy")


def run(arguments: argparse.Namespace) -> int:
    """Print the list, or one policy. Raises ConfigError where NAME is not one."""
    from ..replay.policy import resolve_policy, shipped_policies
    from ..schemas.yaml_text import format_yaml

    if arguments.name is None:
        print_listing("policies", shipped_policies(), arguments.json)
        return 0
    policy = resolve_policy(arguments.name)
    if arguments.json:
        print_json(policy.model_dump())
    else:
        print(format_yaml(policy), end="")
    return 0
