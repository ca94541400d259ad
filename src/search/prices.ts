const RESULTS_INCLUDED = 10;
/** 0.001 USD for each result beyond those that are included. @source generation.md 4.2 "Prices" */
const FURTHER_RESULT_NANO_USD = 1_000_000;

/** @param searchNanoUsd for the search with the results that it includes */
export function searchFee(searchNanoUsd: number, results: number): number {
  return searchNanoUsd + Math.max(0, results - RESULTS_INCLUDED) * FURTHER_RESULT_NANO_USD;
}

/** 0.001 USD. @source generation.md 5.5 */
export const PAGE_FEE_NANO_USD = 1_000_000;
