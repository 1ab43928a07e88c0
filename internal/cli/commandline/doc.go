// Package commandline has what the commands of all programs do alike with a wrong command
// line: an argument that is missing is named, and so is a number that means nothing.
package commandline
