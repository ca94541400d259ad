const RESULTS_INCLUDED = 10;
/** 0.001 USD for each result beyond those that are included. @spec web-4 */
const FURTHER_RESULT_NANO_USD = 1_000_000;

/** @param searchNanoUsd for the search with the results that it includes */
export function searchFee(searchNanoUsd: number, results: number): number {
  return searchNanoUsd + Math.max(0, results - RESULTS_INCLUDED) * FURTHER_RESULT_NANO_USD;
}

/** 0.001 USD. @spec web-21 */
export const PAGE_FEE_NANO_USD = 1_000_000;
