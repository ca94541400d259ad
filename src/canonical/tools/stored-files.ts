/** A file that the gateway keeps for a workspace. */
export interface StoredFile {
  readonly id: string;
  readonly filename: string;
  /** Found from the bytes: one of a few types. */
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Unix ms. */
  readonly createdAtMs: number;
  /** A tool made it: only such a file can be downloaded, an uploaded one cannot. */
  readonly madeHere: boolean;
}

/** The key that owns files, and its workspace. */
export interface FileOwner {
  readonly workspaceId: string;
  readonly keyHash: string;
}

/** The files of a workspace, for the tools that use them while a request is served. */
export interface StoredFiles {
  /** Oldest first. @param nameHas only names with this in them, whatever the case of their letters */
  search(owner: FileOwner, nameHas: string | undefined, limit: number): Promise<readonly StoredFile[]>;
  find(owner: FileOwner, id: string): Promise<StoredFile | undefined>;
  /** The youngest of that name. */
  findByName(owner: FileOwner, filename: string): Promise<StoredFile | undefined>;
  /** @throws GatewayError 503 where the content is not on this machine */
  read(file: StoredFile): Promise<Uint8Array>;
  /** Makes a text file. @throws GatewayError 400, 413, 503 */
  write(owner: FileOwner, filename: string, text: string): Promise<StoredFile>;
}

/** Ids of files that the gateway keeps; no vendor's look like it. */
const OWN_FILE_ID = /^file_[0-9a-f]{32}$/;

export function isOwnFileId(id: string): boolean {
  return OWN_FILE_ID.test(id);
}
