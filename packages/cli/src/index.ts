/** Placeholder door; filled with the package's first code. */
export {};
