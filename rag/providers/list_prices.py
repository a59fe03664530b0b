"""Vendors' list prices and context windows, from the data in the installed package genai-prices; no network."""

from typing import TYPE_CHECKING

from rag import types
from rag.providers.provider_catalogue import Provider

if TYPE_CHECKING:  # the data take a quarter of a second to load
    from genai_prices.types import PriceCalculation


def cost(provider: Provider, base_url: str | None, model: str, usage: types.Usage) -> float | None:
    """Return what `usage` costs in dollars; None if the price is unknown. Gateways may charge other prices."""
    calculation = _calculate(provider, base_url, model, usage)
    return float(calculation.total_price) if calculation else None


def context_window(provider: Provider, base_url: str | None, model: str) -> int | None:
    """Return the tokens of prompt and answer together, None if unknown."""
    calculation = _calculate(provider, base_url, model, types.Usage())
    return calculation.model.context_window if calculation else None


def _calculate(provider: Provider, base_url: str | None, model: str, usage: types.Usage) -> "PriceCalculation | None":
    import genai_prices

    counts = genai_prices.Usage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
    try:
        if provider.price_list:
            return genai_prices.calc_price(counts, model, provider_id=provider.price_list)
        return genai_prices.calc_price(counts, model, provider_api_url=base_url or "")
    except LookupError:
        return None
