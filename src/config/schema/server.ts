import { z } from 'zod';
import { key } from './key.ts';
import { httpUrl, optionalSection, text } from './parts.ts';

const BODY_MB_MAX = 1_024;
/** A gateway without load takes half of it. */
export const MEMORY_LIMIT_MB_MIN = 256;
export const MEMORY_LIMIT_MB_MAX = 16_777_216;
/** Room for one file of the largest size. */
const FILE_MEMORY_MB_MIN = 64;
const FILE_MEMORY_MB_MAX = 65_536;
const RESPONSE_CACHE_MB_MAX = 65_536;
const DRAIN_SECONDS_MAX = 3_600;
/** More than any machine has cores to use. */
export const WORKERS_MAX = 256;

export const server = optionalSection(
  {
    host: key(text, 'The address to listen on; `0.0.0.0` means all addresses of the machine.', {
      default: '127.0.0.1',
    }),
    port: key(z.int().min(0).max(65_535), 'The port to listen on; 0 selects a free one.', { default: 8_787 }),
    workers: key(
      z.union([z.int().min(1).max(WORKERS_MAX), z.literal('auto')]),
      'Processes that serve generations; with 1 the gateway is one process. `auto`: as many as cores and memory allow: docs/deploy.md.',
      { default: 1, example: 'auto' },
    ),
    max_body_mb: key(z.number().positive().max(BODY_MB_MAX), 'The largest body of a request; beyond it: 413.', {
      default: 32,
    }),
    memory_limit_mb: key(
      z.int().min(MEMORY_LIMIT_MB_MIN).max(MEMORY_LIMIT_MB_MAX),
      'Memory of the process; limits of bodies, files and caches are shares of it: docs/deploy.md.',
      { usual: "its cgroup's limit, else the machine's memory", example: 1_536 },
    ),
    file_memory_mb: key(
      z.number().min(FILE_MEMORY_MB_MIN).max(FILE_MEMORY_MB_MAX),
      'Memory for files that are fetched from addresses, for all requests together.',
      { usual: '256, or 4/32 of what the memory limit leaves', example: 256 },
    ),
    response_cache_mb: key(
      z.number().min(0).max(RESPONSE_CACHE_MB_MAX),
      'Memory of the response cache; 0 turns it off.',
      { usual: '64, or 1/64 of what the memory limit leaves', example: 64 },
    ),
    drain_seconds: key(z.number().min(0).max(DRAIN_SECONDS_MAX), 'Time for open requests after SIGTERM.', {
      default: 30,
    }),
    public_url: key(
      httpUrl,
      'Where the gateway is found from outside, for links in notifications and the addresses that it gives out.',
      { usual: 'unknown', example: 'https://gateway.example' },
    ),
    region: key(text, 'The name of this location in records and `service_metadata`.', {
      default: 'local',
      example: 'eu-1',
    }),
  },
  'The process and its listener.',
);
