const text = `
\`\`\`js
return 1;
\`\`\`
`;
return text.trim().split("\n").length;
//> value: 3
