/** Why what looks odd in a golden of `golden/requests` is right. */
export const REQUEST_NOTES: Readonly<Record<string, readonly string[]>> = {};
