/** First parts of paths of the specification that lead nowhere yet. @spec error-25 */
const UNBUILT: ReadonlySet<string> = new Set(
  'responses embeddings rerank images audio videos scim containers interns vault datasets'.split(' '),
);

/** The area that a path below a base address belongs to, where that is not built: a caller learns more than a slip of the pen. */
export function unbuiltAreaOf(path: string): string | undefined {
  const [, area] = /^\/(?:api\/)?v1\/(?:presets\/[^/]+\/)?([a-z]+)(?:\/|$)/.exec(path) ?? [];
  return area !== undefined && UNBUILT.has(area) ? area : undefined;
}
