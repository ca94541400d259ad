/** What stands where a secret stood. */
export const CENSOR = '[redacted]';

// Beginnings that vendors give their keys; `*` because hosts say a key back half masked ("sk-ab***yz"). The last ones
// begin ordinary words, too ("key_frames"): only a digit or a mask makes those a key. The look-ahead is bounded: unbounded, it would be quadratic.
const SECRET =
  /\b(?:sk|pk|rk|gsk|xai|mgw|pplx|nvapi)[-_][\w*-]{8,}|\bAIza[\w*-]{16,}|\b(?:key|hf|fw|r8)[-_](?=[A-Za-z_-]{0,64}[\d*])[\w*-]{8,}|\bBearer\s+[^\s"]+/gi;

/** A text without what looks like a credential of anybody. What has no well-known beginning stays. */
export function censorSecrets(text: string): string {
  return text.replace(SECRET, CENSOR);
}
