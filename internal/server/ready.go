package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// readyTimeout is long enough for a busy machine.
const readyTimeout = 5 * time.Minute

// WaitReady returns when the server with a health address says that it is ready.
func WaitReady(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	// There is no signal when a process begins to listen, so its health address is polled.
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	var last error
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
		if err != nil {
			return fmt.Errorf("ask %s: %w", address, err)
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			said, _ := io.ReadAll(io.LimitReader(response.Body, 4096)) // only for the message
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
			err = fmt.Errorf("it answers %s: %s", response.Status, bytes.TrimSpace(said))
		}
		last = err
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; last: %w", ctx.Err(), last)
		case <-ticker.C:
		}
	}
}
