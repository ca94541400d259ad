const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Whether a host name, in lower case, is one of this machine. */
export function isLoopbackName(name: string): boolean {
  return LOOPBACK.test(name);
}

/** Whether nothing on the way to an address can read along. */
export function isSafeAddress(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || isLoopbackName(hostname);
}
