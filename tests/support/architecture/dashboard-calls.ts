const METHOD = '(GET|POST|PUT|PATCH|DELETE)';
/** A path as a text, as a template, or by the name of a constant of the file. */
const PATH = "(?:'([^']+)'|`([^`]+)`|(\\w+))";
const PATTERNS: readonly RegExp[] = [
  new RegExp(`\\bclient\\.${METHOD}\\(\\s*${PATH}`, 'g'),
  new RegExp(`\\bcallConsole\\('${METHOD}',\\s*${PATH}`, 'g'),
  new RegExp(`\\.open\\('${METHOD}',\\s*${PATH}`, 'g'),
];
/** Here the method comes behind the path; absent: GET. */
const LATE_METHOD = new RegExp(`\\b(?:openStream|fetch)\\(\\s*${PATH},\\s*\\{(?:\\s*method: '(\\w+)')?`, 'g');

/**
 * The calls of the gateway in one source of the dashboard, such as `GET /keys/{}`: parameters of paths have no name. A path
 * that only a variable holds is none: the function that is given it is found where it is called.
 */
export function findCalls(source: string): readonly string[] {
  const found = PATTERNS.flatMap((pattern) =>
    [...source.matchAll(pattern)].map(({ 1: method = '', 2: text, 3: template, 4: name, index }) => ({
      index,
      method,
      path: text ?? template ?? constantOf(source, name),
    })),
  );
  const late = [...source.matchAll(LATE_METHOD)].map(({ 1: text, 2: template, 3: name, 4: method = 'GET', index }) => ({
    index,
    method,
    path: text ?? template ?? constantOf(source, name),
  }));
  return [...found, ...late]
    .toSorted((one, other) => one.index - other.index)
    .flatMap(({ method, path }) =>
      path?.startsWith('/') === true || path?.startsWith('${API_ROOT}') === true
        ? [`${method} ${withoutNames(path)}`]
        : [],
    );
}

function constantOf(source: string, name: string | undefined): string | undefined {
  return name === undefined ? undefined : new RegExp(`\\bconst ${name} = '([^']+)'`).exec(source)?.[1];
}

/** `/keys/{hash}` and `${API_ROOT}/keys/${encodeURIComponent(hash)}` are one path. */
export function withoutNames(path: string): string {
  const [withoutQuery = ''] = path.replace('${API_ROOT}', '').split('?');
  return withoutQuery.replaceAll(/\$?\{[^}]*\}/g, '{}');
}
