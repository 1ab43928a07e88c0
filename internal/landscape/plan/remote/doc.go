// Package remote makes plans in another process. What templates may ask (component versions,
// states, clusters) is asked through the pipe and answered by the server, which keeps all
// credentials.
package remote
