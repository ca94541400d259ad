import { REDACTED_TEXT } from '../../lib/text/redact-secrets.ts';

const GUID = String.raw`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`;

/**
 * Names of the operator's own accounts as vendors write them into their errors. The vendors' references, read 2026-11: AWS
 * "ARN format", Google "Resource names" and "Service accounts", OpenAI "Error codes", Azure "Resource ids".
 */
const IDENTITIES: readonly (readonly [written: RegExp, instead: string])[] = [
  [/\barn:aws[\w-]*:[^\s"'`,;()[\]{}<>]+/g, REDACTED_TEXT],
  [/\b[\w.-]+@[\w.-]+\.gserviceaccount\.com\b/g, REDACTED_TEXT],
  [/\bprojects\/[^\s"'`,;/()[\]{}<>]+/g, `projects/${REDACTED_TEXT}`],
  [/\b(project(?: (?:number|id))?[\s:=#'"`(]{1,3})\d{6,20}\b/gi, `$1${REDACTED_TEXT}`],
  [/\b(account(?: (?:number|id))?[\s:=#'"`(]{1,3})\d{12}\b/gi, `$1${REDACTED_TEXT}`],
  [/\b(?:org|proj|user)[-_][A-Za-z0-9]{16,64}\b/g, REDACTED_TEXT],
  [
    new RegExp(String.raw`\bsubscriptions/${GUID}(?:/resourceGroups/[^\s"'/]+)?`, 'gi'),
    `subscriptions/${REDACTED_TEXT}`,
  ],
  [
    new RegExp(
      String.raw`\b((?:organi[sz]ation|workspace|tenant|subscription|directory|account|project)(?: id)?[\s:='"(]{1,3})${GUID}`,
      'gi',
    ),
    `$1${REDACTED_TEXT}`,
  ],
  [/\b[\w-]+(?=\.(?:openai|services\.ai|cognitiveservices)\.azure\.(?:com|us|cn)\b)/g, REDACTED_TEXT],
];

/** The text without the identity of the account at the provider. What the error is about stays readable. */
export function redactIdentities(text: string): string {
  return IDENTITIES.reduce((clean, [written, instead]) => clean.replace(written, instead), text);
}
