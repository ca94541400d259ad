import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Block } from '../../../canonical/blocks.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import type { GenerationRequest } from '../../../canonical/request.ts';
import { refuseStoredFiles } from './refuse-stored-files.ts';
import { plainDirectives } from '../../../../tests/support/plain-directives.ts';

function stating(role: 'user' | 'assistant', ...blocks: readonly Block[]): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns: [{ role, blocks }],
    tools: [],
    settings: {},
    directives: plainDirectives('acme/one'),
    warnings: [],
  };
}

const STORED: Block = { type: 'media', media: 'document', source: { type: 'file', fileId: 'file_1' } };
const BUCKET: Block = { type: 'media', media: 'image', source: { type: 'url', url: 's3://bucket/a.png' } };
const SOUND: Block = { type: 'media', media: 'audio', source: { type: 'file', fileId: 'audio_1' } };

test("reads files of the caller's own credential, and no buckets of the operator", () => {
  const request = stating('user', STORED);
  assert.throws(() => refuseStoredFiles(request, {}, 'chat'), GatewayError);
  refuseStoredFiles(request, { isByok: true }, 'chat');
  refuseStoredFiles(request, { storedFiles: true }, 'chat');
  assert.throws(() => refuseStoredFiles(stating('user', BUCKET), { isByok: true }, 'chat'), GatewayError);
  refuseStoredFiles(stating('user', BUCKET), { storageUris: true }, 'converse');
});

test('opens with one option nothing of the other', () => {
  assert.throws(() => refuseStoredFiles(stating('user', STORED), { storageUris: true }, 'messages'), GatewayError);
  assert.throws(() => refuseStoredFiles(stating('user', BUCKET), { storedFiles: true }, 'chat'), GatewayError);
});

test('opens nothing beside a host in the own network, until the operator allows it', () => {
  const at = (url: string): GenerationRequest =>
    stating('user', { type: 'media', media: 'image', source: { type: 'url', url } });
  for (const url of [
    'http://169.254.169.254/a.png',
    'http://localhost:9000/a.png',
    'file:///srv/a.png',
    'http://[::1]/',
  ]) {
    assert.throws(() => refuseStoredFiles(at(url), {}, 'chat'), /not of the public web/, url);
    refuseStoredFiles(at(url), { opensAnyMedia: true }, 'chat');
  }
  for (const url of ['https://example.com/a.png', 'http://1.1.1.1/a.png', 'data:image/svg+xml,<svg/>'])
    refuseStoredFiles(at(url), {}, 'chat');
});

test('sends audio of the model back under the id that the caller got', () => {
  refuseStoredFiles(stating('assistant', SOUND), {}, 'chat');
});

test('reports an id itself in a format without a place for it', () => {
  refuseStoredFiles(stating('user', STORED), {}, 'gemini');
});
