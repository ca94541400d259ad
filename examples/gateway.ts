/** Where the examples find the gateway, and which model they ask. */
export const url = process.env['GATEWAY_URL'] ?? 'http://127.0.0.1:8787';
export const apiKey = process.env['GATEWAY_API_KEY'] ?? '';
export const managementKey = process.env['GATEWAY_MANAGEMENT_KEY'] ?? '';
/** `MODEL` in the environment names another one. */
export const modelOr = (sandboxModel: string): string => process.env['MODEL'] ?? sandboxModel;
