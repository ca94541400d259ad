/** A search of the web that the endpoint makes by itself, independent of formats. @spec web-2 */
export interface NativeWebSearch {
  /** Where an endpoint takes one list of sites, this one wins. */
  readonly includeSites?: readonly string[];
  readonly excludeSites?: readonly string[];
  readonly usesMax?: number;
  readonly place?: UserPlace;
  /** Posts of X are searched, too. Empty: all of them. */
  readonly posts?: PostFilter;
}

/** Where the user is, roughly. */
export interface UserPlace {
  readonly city?: string;
  readonly region?: string;
  readonly country?: string;
  readonly timezone?: string;
}

/** Which posts of X a search looks through. Never both lists of handles. @spec web-16 */
export interface PostFilter {
  readonly allowedHandles?: readonly string[];
  readonly excludedHandles?: readonly string[];
  /** `2026-11-01`. */
  readonly fromDate?: string;
  readonly toDate?: string;
  readonly readsImages?: boolean;
  readonly readsVideos?: boolean;
}
