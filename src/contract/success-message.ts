/** The message of every envelope that carries one (decisions, section 2). */
export const successMessage = '200 Successful';
