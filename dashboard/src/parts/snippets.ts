import type { Call } from '../api/calls.ts';

export type Language = 'curl' | 'TypeScript' | 'Python';
export const LANGUAGES: readonly Language[] = ['curl', 'TypeScript', 'Python'];

/** The variable that holds a key in snippets: never the key itself. */
export type KeyVariable = 'GATEWAY_MANAGEMENT_KEY' | 'GATEWAY_API_KEY';

/** One call of the API as a program would make it. */
export function toSnippet(
  call: Omit<Call, 'status'>,
  language: Language,
  origin: string,
  key: KeyVariable = 'GATEWAY_MANAGEMENT_KEY',
): string {
  const url = `${origin}/v1${call.path}`;
  if (language === 'curl') return toCurl(call, url, key);
  return language === 'TypeScript' ? toTypeScript(call, url, key) : toPython(call, url, key);
}

function toCurl({ method, body }: Omit<Call, 'status'>, url: string, key: string): string {
  const lines = [
    `curl -s${method === 'GET' ? '' : ` -X ${method}`} ${quote(url)}`,
    `  -H "Authorization: Bearer $${key}"`,
  ];
  if (body !== undefined) lines.push("  -H 'Content-Type: application/json'", `  -d ${quote(body)}`);
  return lines.join(' \\\n');
}

function toTypeScript({ method, body }: Omit<Call, 'status'>, url: string, key: string): string {
  const isPost = body !== undefined;
  return [
    `const response = await fetch(${JSON.stringify(url)}, {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    `  headers: { Authorization: \`Bearer \${process.env.${key}}\`${isPost ? ", 'Content-Type': 'application/json'" : ''} },`,
    ...(isPost ? [`  body: JSON.stringify(${body}),`] : []),
    '});',
    'console.log(await response.json());',
  ].join('\n');
}

function toPython({ method, body }: Omit<Call, 'status'>, url: string, key: string): string {
  return [
    'import json, os, urllib.request',
    'request = urllib.request.Request(',
    `    ${JSON.stringify(url)}, method="${method}",`,
    `    headers={"Authorization": "Bearer " + os.environ["${key}"]${body === undefined ? '' : ', "Content-Type": "application/json"'}},`,
    ...(body === undefined ? [] : [`    data=json.dumps(json.loads(${JSON.stringify(body)})).encode(),`]),
    ')',
    'print(json.load(urllib.request.urlopen(request)))',
  ].join('\n');
}

/** For a shell: nothing between the quotes is read. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
