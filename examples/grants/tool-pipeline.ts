// Chains three tools, each working on what the one before it found.
interface Ticket {
  id: number;
  text: string;
}

const ticket: Ticket = await tools.read_ticket({ id: 7 });
const { label }: { label: string } = await tools.classify({ text: ticket.text });

const answer = label === "refund" ? "Your money is on its way." : "We are looking into it.";
await tools.send_reply({ ticket: ticket.id, answer });

return { ticket: ticket.id, label, answer };
