/** Conformance cases as data. */
export {};
