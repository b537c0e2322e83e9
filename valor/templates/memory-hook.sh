#!/bin/sh
# Hand an event of the harness to valor, and never stand in its way. Written by `valor init`.
exit 0
