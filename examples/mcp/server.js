import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

/** A server of the Model Context Protocol with one tool; examples/gateway.yaml starts it, with the Node of the machine. */
function createServer() {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  server.registerTool(
    'find_note',
    { description: 'Finds a note by a word.', inputSchema: z.object({ word: z.string() }) },
    ({ word }) => ({ content: [{ type: 'text', text: `One note has "${word}": buy milk.` }] }),
  );
  return server;
}

serveStdio(createServer);
