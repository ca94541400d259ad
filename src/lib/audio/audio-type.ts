/** Containers and codecs of sound that are told apart by their bytes. */
export type AudioType = 'wav' | 'mp3' | 'flac' | 'ogg' | 'webm' | 'mp4' | 'aac' | 'amr' | 'caf';
