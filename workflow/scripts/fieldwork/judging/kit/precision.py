"""How precise judgements will be: half the width of 95 % intervals, by numbers of users and units.

Assumptions are settings of the caller, and the kit's page states them.

- A share p of yes over n units of m each per user, judged by k raters each: Var = p(1-p)/n ·
  (κ + (1-κ)/k) · (1 + (m-1)ρ). κ is the share of the variance of a judgement that lies between units,
  which the agreement of raters estimates. The last factor is Kish's design effect (Survey Sampling, 1965)
  for units of a user that are alike by ρ.
- Cohen's κ of two raters on n units: Var = (1-κ)/n · [(1-κ)(1-2κ) + κ(2-κ)/(2p(1-p))] (Bloch and Kraemer,
  Biometrics 45, 1989, equation 2.1), times the same design effect.
"""

import math
from collections.abc import Iterator
from itertools import product

from fieldwork.records.judging import RaterPrecision
from fieldwork.sections.judging import UnitSharing
from fieldwork.sections.power import RaterAssumptions

NORMAL_95 = 1.959964


def share_half_width(
    share: float, kappa: float, *, units: int, per_user: float, raters: int, likeness: float
) -> float:
    """Half the width of the interval of a share of yes, 0 to 1.

    Args:
        share: of yes.
        kappa: agreement of raters beyond chance.
        units: how many are judged.
        per_user: units of one user.
        raters: who judge each unit.
        likeness: intraclass correlation of the units of a user.
    """
    of_raters = kappa + (1 - kappa) / raters
    variance = share * (1 - share) / units * of_raters * design_effect(per_user, likeness)
    return NORMAL_95 * math.sqrt(variance)


def kappa_half_width(
    share: float, kappa: float, *, units: int, per_user: float, likeness: float
) -> float:
    """Half the width of the interval of the κ of two raters; arguments as above."""
    spread = 2 * share * (1 - share)
    bracket = (1 - kappa) * (1 - 2 * kappa) + kappa * (2 - kappa) / spread
    variance = (1 - kappa) / units * bracket * design_effect(per_user, likeness)
    return NORMAL_95 * math.sqrt(variance)


def design_effect(per_user: float, likeness: float) -> float:
    """How many times as large a variance is because units of a user are alike."""
    return 1 + (max(per_user, 1) - 1) * likeness


def precision_rows(assumptions: RaterAssumptions, sharing: UnitSharing) -> Iterator[RaterPrecision]:
    """What to expect, by the share of yes and the numbers of users and of units."""
    cases = product(assumptions.shares, assumptions.users, assumptions.per_user)
    for share, n_users, m in cases:
        n_units = n_users * m
        n_shared = math.ceil(sharing.overlap * n_units)
        n_judgements = n_units + n_shared * (sharing.shared_by - 1)
        kappa, likeness = assumptions.kappa, assumptions.likeness
        yield RaterPrecision(
            share=share,
            kappa=kappa,
            n_users=n_users,
            n_units=n_units,
            n_judgements=n_judgements,
            n_raters=max(sharing.shared_by, math.ceil(n_judgements / assumptions.per_rater)),
            share_half_width=share_half_width(
                share, kappa, units=n_units, per_user=m, raters=1, likeness=likeness
            ),
            # a user has as many shared units as the overlap leaves
            kappa_half_width=kappa_half_width(
                share, kappa, units=n_shared, per_user=m * sharing.overlap, likeness=likeness
            ),
        )
