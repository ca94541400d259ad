/**
 * Why what looks odd in a golden is right, by recording. The lines stand at the head of the golden itself.
 * A golden that looks odd without a line here has not been reviewed.
 */
export const NOTES: Readonly<Record<string, readonly string[]>> = {};
