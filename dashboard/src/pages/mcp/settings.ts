/** One value of the configuration, with its place. */
export interface Value {
  readonly path: string;
  readonly value?: unknown;
  readonly origin: string | null;
}

/** A program that the configuration names. */
export interface KnownClient {
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
}

/** What the configuration says of the MCP server. */
export interface McpSettings {
  readonly isOn: boolean;
  readonly hasOauth: boolean;
  readonly takesDocuments: boolean;
  readonly takesRegistration: boolean;
  readonly takesPrivateAddresses: boolean;
  readonly tools: readonly string[];
  readonly origins: readonly string[];
  readonly clients: readonly KnownClient[];
  readonly publicUrl: string | undefined;
  /** Where a value stands: `gateway.yaml:7`, or its default. */
  readonly placeOf: (name: string) => string;
}

const CLIENT = /^mcp_server\.clients\[(\d+)\]\.client_id$/;

export function readSettings(values: readonly Value[]): McpSettings {
  const at = (path: string): Value | undefined => values.find((each) => each.path === path);
  const isTrue = (name: string): boolean => at(`mcp_server.${name}`)?.value === true;
  const texts = (path: string): readonly string[] => textsOf(at(path)?.value);
  const text = (path: string): string | undefined => textsOf([at(path)?.value])[0];
  const clients = values.flatMap(({ path }) => {
    const index = CLIENT.exec(path)?.[1];
    if (index === undefined) return [];
    const own = `mcp_server.clients[${index}]`;
    const id = text(`${own}.client_id`) ?? '';
    return [{ id, name: text(`${own}.name`) ?? id, redirectUris: texts(`${own}.redirect_uris`) }];
  });
  return {
    isOn: isTrue('enabled'),
    hasOauth: isTrue('oauth'),
    takesDocuments: isTrue('client_documents'),
    takesRegistration: isTrue('registration'),
    takesPrivateAddresses: isTrue('private_addresses'),
    tools: texts('mcp_server.tools'),
    origins: texts('mcp_server.allowed_origins'),
    clients,
    publicUrl: text('server.public_url'),
    placeOf: (name) => at(`mcp_server.${name}`)?.origin ?? 'default',
  };
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
