/** A reason not to start, with instructions. Printed as it is, without a stack. */
export class StartFault extends Error {}
