// Package wake finds the Installations that may go on when something has changed: the
// relatives of an Installation, who waits for a Context, who imports an object. It must
// never wake anybody whom the change cannot concern, nor judge whether it does.
package wake
