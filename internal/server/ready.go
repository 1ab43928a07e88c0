package server

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// WaitReady returns when the server with a health address says that it is ready.
func WaitReady(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	// A process tells nobody when it begins to listen, so we ask.
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
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
			err = fmt.Errorf("it answers %s", response.Status)
		}
		last = err
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; last: %w", ctx.Err(), last)
		case <-ticker.C:
		}
	}
}
