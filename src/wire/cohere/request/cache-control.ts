/** The format has no cache breakpoints: the vendor caches by itself, so that those of callers are dropped with a warning. */
export const CACHE_BREAKPOINTS = 'none';
