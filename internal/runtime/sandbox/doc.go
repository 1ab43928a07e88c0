// Package sandbox runs work on content that others have written in processes of their own,
// because no account of ours can say what a library makes of 50 bytes: there the kernel
// bounds memory, time, files and network, and a work that goes beyond ends with its process
// and not with the server.
//
// A process is this program itself. It gets one work at a time over a pipe, may ask the
// server for more over the same pipe, and gives its result back. It is used again for the
// tenant that it has worked for, and for no other one.
//
// Outside of Linux, where only the command line runs, a process watches its own memory, and the
// clock of the pool bounds its time.
package sandbox
