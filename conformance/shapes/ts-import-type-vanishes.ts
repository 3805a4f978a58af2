import type { Anything } from "somewhere-not-granted";
import { type Other } from "nowhere";
const value: Anything | Other = 5 as any;
export default value;
//> value: 5
