import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

export interface MailServer {
  readonly port: number;
  readonly lines: string[];
  close(): Promise<void>;
}

/**
 * A mail server that takes everything, without TLS.
 * @param offersLogin false: it knows no AUTH, and refuses it like any unknown command
 */
export async function startMailServer({ offersLogin = true } = {}): Promise<MailServer> {
  const lines: string[] = [];
  const server = createServer((socket) => {
    let isData = false;
    let rest = '';
    socket.write('220 mail.example.com ESMTP\r\n');
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      const parts = (rest + chunk.toString()).split('\r\n');
      rest = parts.pop() ?? '';
      for (const line of parts) {
        lines.push(line);
        if (isData) {
          if (line !== '.') continue;
          isData = false;
          socket.write('250 taken\r\n');
        } else if (line === 'DATA') {
          isData = true;
          socket.write('354 go on\r\n');
        } else socket.write(replyTo(line, offersLogin));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    lines,
    close: () => new Promise((closed) => server.close(() => closed())),
  };
}

function replyTo(line: string, offersLogin: boolean): string {
  if (!offersLogin && line.startsWith('EHLO')) return '250 mail.example.com\r\n';
  if (!offersLogin && line.startsWith('AUTH')) return '502 not implemented\r\n';
  if (line.startsWith('EHLO')) return '250-mail.example.com\r\n250 AUTH PLAIN\r\n';
  return line.startsWith('AUTH') ? '235 ok\r\n' : '250 ok\r\n';
}
