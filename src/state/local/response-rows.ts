import type { MessageLink } from '../../lib/net/message-link.ts';
import type { ResponseReader, ResponseRows } from '../contract.ts';
import type { SentReader, StateProcedures } from './procedures.ts';

/** Serves the responses that the first process keeps to a worker. */
export function serveResponses(rows: ResponseRows) {
  return {
    putResponse: (row) => rows.put(row),
    findResponse: async ({ id, reader }) => (await rows.find(id, readerOf(reader))) ?? null,
    findResponseChain: ({ id, reader, bounds }) => rows.findChain(id, readerOf(reader), bounds),
    findResponsesByItems: ({ itemIds, reader, charsMax }) => rows.findByItems(itemIds, readerOf(reader), charsMax),
    deleteResponse: ({ id, reader }) => rows.delete(id, readerOf(reader)),
    listResponses: (listing) => rows.list(listing),
    responseOwners: () => rows.owners(),
    deleteResponsesOf: (owner) => rows.deleteOf(owner),
  } satisfies Partial<StateProcedures>;
}

/** The same rows as a worker uses them. */
export function responsesOver(link: MessageLink<StateProcedures>): ResponseRows {
  return {
    put: (row) => link.call('putResponse', row),
    find: async (id, reader) => (await link.call('findResponse', { id, reader: sent(reader) })) ?? undefined,
    findChain: (id, reader, bounds) => link.call('findResponseChain', { id, reader: sent(reader), bounds }),
    findByItems: (itemIds, reader, charsMax) =>
      link.call('findResponsesByItems', { itemIds, reader: sent(reader), charsMax }),
    delete: (id, reader) => link.call('deleteResponse', { id, reader: sent(reader) }),
    list: (listing) => link.call('listResponses', listing),
    owners: () => link.call('responseOwners', undefined),
    async deleteOf(owner) {
      await link.call('deleteResponsesOf', owner);
    },
  };
}

function sent({ keyHash, ...reader }: ResponseReader): SentReader {
  return { ...reader, keyHash: keyHash ?? null };
}

function readerOf({ keyHash, ...reader }: SentReader): ResponseReader {
  return { ...reader, keyHash: keyHash ?? undefined };
}
