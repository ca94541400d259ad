import { GatewayError } from '../../canonical/gateway-error.ts';

/** Tools that a setting of the operator turns on. @spec tool-3 */
const TURNED_OFF: Readonly<Record<string, string>> = {
  'service:shell':
    'needs containers, which are off on this gateway: its operator turns them on with "containers.runtime" in the configuration',
};

/**
 * Makes a 400 that names a valid server tool that is not there: a caller must never take an ignored setting for an applied
 * one. @param path of the type
 * @spec request-16
 */
export function missingTool(path: string, name: string): GatewayError {
  const reason = TURNED_OFF[name] ?? 'is valid but not supported by this version of the gateway';
  const message = `the server tool ${JSON.stringify(name)} ${reason}`;
  return new GatewayError('invalid_request', `${path}: ${message}.`, { issues: [{ path, message }] });
}
